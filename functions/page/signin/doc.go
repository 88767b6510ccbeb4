// Package signin is the door of the page on AWS: people sign in with GitHub and see the repositories that they may
// read there. It is a page.Door, and it decides for package pagedata which repositories exist for a reader.
//
//	/sign-in      sends the browser to GitHub, and remembers the attempt in a cookie
//	/signed-in    GitHub sends the browser back here, with a code
//	/sign-out     ends the session, and the token at GitHub
//	/link         a signed link, if nobody can sign in
//
// # What is kept
//
// Nothing is kept on the server. A session is an encrypted cookie with the person's login, GitHub's token of that
// person and the end of the session. It ends with the token, after 8 hours at most. Each request for a repository asks
// GitHub, with the person's own token, whether the person may read it. An answer counts for a minute. So whoever
// loses the right to read a repository, or revokes the App's authorization, sees nothing a minute later.
//
// A repository that a person may not read looks like one that does not exist. The name in an address leads to the
// ID that GitHub's answer has, never to an ID from the address.
//
// # Signed links
//
// An App without a client secret has no sign-in. Then `lockstep page link` makes links to one repository or one pull
// request. A link is valid for 15 minutes, and so is the session that it begins.
//
// The package does not know the pages. Start at [New].
package signin
