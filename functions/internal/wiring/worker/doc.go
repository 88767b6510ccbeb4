// Package worker adds to package wiring what the functions that plan and apply need: the engine, and
// credentials for providers.
//
// The function's own credentials open every plan and record, and the roles with access to states. Providers and
// the content of a pull request never see these credentials. Providers get those of a role in the managed
// account, if there is one ([target]), or none.
//
// Each run is a process of its own, which has the credentials for states but not the App's key (package
// functions/pipeline/subprocess). The process starts in [Main]. If a run started programs that the base branch
// allows without naming them exactly, the function's process also ends after the run.
package worker
