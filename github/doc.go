// Package github speaks to GitHub as an App. It distinguishes genuine webhooks from forged ones, and reads and
// writes pull requests.
//
// The path of a request: a webhook arrives, and [ReadDelivery] checks its signature and turns it into an
// [Event]. The event names a repository and the App's installation there. [App.Repository] returns the [Client]
// of exactly that repository, whose tokens open no other. The Client reads the present state: the pull request,
// its trial merge, files, reviews, a user's permission. It writes comments, reactions and check runs.
// [App.Deliveries], [Client.OpenPulls] and [Client.CommentsSince] find lost webhooks. [App.Fetch] and
// [App.FetchPublic] get the files of other repositories.
//
// Every call has a timeout, respects rate limits, and is repeated only if a second call does no harm. A request
// that creates an object is sent once. Before it is sent again, the object is searched for by its marker or
// external ID.
//
// GitHub's answers become small values of our own: only this package imports go-github. It refuses to know
// Lockstep's commands and the content of comments. Keys, tokens and webhook secrets have the type [Secret] and
// cannot be printed. Start reading at [ReadDelivery] and [NewApp]. Package githubtest is a GitHub to try them
// on.
package github
