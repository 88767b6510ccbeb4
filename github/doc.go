// Package github speaks to GitHub as an App: it tells true webhooks from forged
// ones, and reads and writes pull requests.
//
// The way of a request: a webhook arrives, [ReadDelivery] checks its signature and
// makes an [Event] of it; the event names a repository and an installation of the
// App in it; [App.Repository] gives the [Client] of exactly that repository, whose
// tokens are good for nothing else. The Client reads what is true now: the pull
// request, its trial merge, files, reviews, somebody's permission; and writes: comments,
// reactions, check runs. Webhooks that did not arrive are found by [App.Deliveries],
// [Client.OpenPulls] and [Client.CommentsSince]. What is wanted of other repositories,
// [App.Fetch] and [App.FetchPublic] get.
//
// Every call has a time-out, honours rate limits, and is repeated only where that
// cannot do a thing twice: what makes something new is sent once, and found by its
// marker or external ID before it is sent again.
//
// What GitHub says comes out as small values of our own: only this package imports
// go-github. It refuses to know what Lockstep does with a pull request, and what
// the comments say. Keys, tokens and webhook secrets are of type [Secret] and
// cannot be printed. Start at [ReadDelivery] and [NewApp]; githubtest is a GitHub
// to try them on.
package github
