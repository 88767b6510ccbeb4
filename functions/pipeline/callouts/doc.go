// Package callouts calls the functions, webhooks and programs of a team's own that the base branch names: its gates and
// its hooks.
//
// A request is a JSON object in the form of https://www.standardwebhooks.com: type, timestamp, and data with the run and its
// plan. One to a webhook is signed as that specification has it, with the headers webhook-id, webhook-timestamp and
// webhook-signature, and goes to public addresses only; a function is invoked with Lockstep's own role. The answer of a
// gate is a JSON object with verdict, "allow" or "deny", messages and warnings. All else is no verdict: an error, a redirect,
// rubbish, silence.
//
// A hook may answer nothing, or such an object; only one before a plan or an apply can deny it.
//
// The package refuses to know rights (the base branch's settings and the role's policy decide), and the consequences of an answer. It is called by our own processes, and never by those that run programs of pull requests. Start at [Caller].
package callouts
