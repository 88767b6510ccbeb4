// Package callouts calls a team's own functions, webhooks and programs, which the base branch names: gates and
// hooks.
//
// A request is a JSON object in the form of https://www.standardwebhooks.com: type, timestamp, and data with
// the run and its plan. A request to a webhook is signed as that specification says, with the headers
// webhook-id, webhook-timestamp and webhook-signature. It goes to public addresses only. A function is invoked
// with Lockstep's own role. The answer of a gate is a JSON object with verdict ("allow" or "deny"), messages
// and warnings. An error, a redirect, an unreadable answer or no answer is no verdict, so the gate does not
// allow.
//
// A hook may answer nothing, or such an object. Only a hook before a plan or an apply can deny it.
//
// This package does not know rights and the consequences of an answer. The base branch's settings and the
// role's policy decide about rights. Only Lockstep's own processes use this package, never a process that runs
// programs of pull requests. Start reading at [Caller].
package callouts
