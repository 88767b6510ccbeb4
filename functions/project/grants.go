package project

// Grants say which programs of other people's may be run for a project. The zero
// value allows none but what is built into the engine.
type Grants struct{}
