// Package callouts calls a team's own functions, webhooks and programs. The base branch names them: as gates,
// hooks and notifications.
//
// A request is a JSON object in the form of https://www.standardwebhooks.com: type, timestamp, and data about
// the run and its plan. A request to a webhook is signed as that specification says, with the headers
// webhook-id, webhook-timestamp and webhook-signature. It is sent only to public addresses. A function is
// invoked with Lockstep's own role.
//
// The answer of a gate is a JSON object with verdict ("allow" or "deny"), messages and warnings. An error, a
// redirect, an unreadable answer or no answer is no verdict. Then the gate does not allow the plan. A hook may
// answer nothing, or such an object. Only a hook before a plan or an apply can deny it.
//
// The package does not know which calls are permitted: the base branch's settings and the role's policy decide
// that. It does not know what follows from an answer. Only Lockstep's own processes use the package, never a
// process that runs programs of pull requests. Start reading at [Caller].
package callouts
