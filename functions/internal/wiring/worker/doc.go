// Package worker adds to package wiring the needs of the functions that plan and apply: the engine,
// and credentials for providers.
//
// Providers and the contents of a pull request never see the function's own credentials, which
// open every plan and record, and the roles that reach states. They have those of a role in the account that is
// managed, if there is one ([target]), or none.
//
// Each run is done in a process of its own, which has the credentials of states and not the
// App's key (package functions/pipeline/subprocess); [Main] is its beginning. After a run whose programs
// the base branch allows without knowing them the function's process ends, too.
package worker
