// Package github is Lockstep's client of GitHub, as a GitHub App. It verifies webhooks, and reads and writes
// pull requests.
//
// The path of a request: a webhook arrives, and [ReadDelivery] checks its signature and turns it into an
// [Event]. The event names a repository and the App's installation there. [App.Repository] returns the [Client]
// of exactly that repository, whose tokens give access to no other. The Client reads the present state: the
// pull request, its trial merge, files, reviews, a user's permission. It writes comments, reactions and check
// runs. [App.Deliveries], [Client.OpenPulls] and [Client.CommentsSince] find lost webhooks. [App.Fetch] and
// [App.FetchPublic] get the files of other repositories.
//
// Every call has a timeout, respects rate limits, and is repeated only if a second call does no harm. A request
// that creates an object is sent once. Before it is sent again, Lockstep searches for the object by its marker
// or external ID.
//
// Only this package imports go-github; callers see its own small types. The package does not know Lockstep's
// commands or the content of comments. Keys, tokens and webhook secrets have the type [Secret] and cannot be
// printed. Start reading at [ReadDelivery] and [NewApp]. Package githubtest is a fake GitHub for tests.
package github
