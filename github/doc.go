// Package github speaks to GitHub as an App: it tells true webhooks from forged ones, and reads and
// writes pull requests.
//
// The way of a request: a webhook arrives, [ReadDelivery] checks its signature and turns it into an
// [Event]; the event names a repository and the App's installation there; [App.Repository] gives
// the [Client] of exactly that repository, whose tokens open no other. The Client reads the present
// state: the pull request, its trial merge, files, reviews, a user's permission; and writes
// comments, reactions and check runs. [App.Deliveries], [Client.OpenPulls] and
// [Client.CommentsSince] find the webhooks that did not arrive. [App.Fetch] and [App.FetchPublic]
// get the files of other repositories.
//
// Every call has a time-out, honours rate limits, and is repeated only where a second call can do
// no harm: a request that creates an object is sent once, and the object is looked for by its
// marker or external ID before it is sent again.
//
// GitHub's answers become small values of our own: only this package imports go-github. It refuses
// to know Lockstep's commands, and the content of comments. Keys, tokens and webhook secrets are of
// type [Secret] and cannot be printed. Start at [ReadDelivery] and [NewApp]; githubtest is a GitHub
// to try them on.
package github
