// Package modules puts together what modules from elsewhere are installed with: the
// getters of the command line, which has git and the user's own rights, and those of
// the pipeline, which has neither: there, repositories on GitHub come as archives,
// with the rights of the App.
//
// It knows no pull requests. Only mains import it, so that nothing else links what
// fetches archives. Start at [CommandLine] and [Pipeline].
package modules
