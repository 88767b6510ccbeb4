// Package worker adds to package wiring what the functions that plan and apply need: the engine, and
// credentials for providers.
//
// The function's own credentials can read every plan and record, and can assume the roles with access to
// states. Providers and the code in a pull request never get these credentials. Providers get the credentials
// of a role in the managed account, if there is one ([target]); otherwise none.
//
// Each run has its own process, which begins in [Main]. This process has the credentials for states, but not
// the App's private key (package functions/pipeline/subprocess). A run may start programs that the base branch
// allows without naming them exactly. After such a run, the function's process also ends.
package worker
