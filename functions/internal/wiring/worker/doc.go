// Package worker adds to package wiring what the functions that plan and apply need: the engine, and
// credentials for providers.
//
// Providers and the contents of a pull request never see the function's own credentials, which open every plan
// and record, or the roles that can access states. They have those of a role in the managed account, if there
// is one ([target]), or none.
//
// Each run is done in a process of its own, which has the credentials of states but not the App's key (package
// functions/pipeline/subprocess). [Main] is its beginning. If a run started programs that the base branch
// allows without knowing them, the function's process ends after the run, too.
package worker
