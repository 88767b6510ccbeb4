// Package shield keeps what a process of ours has in memory from other processes of the
// same user: plugins and programs that a plan runs. Every program that has credentials
// raises it before it reads any: the functions in package wiring, `lockstep serve` itself.
//
// It refuses to know what there is to hide. Start at [Raise].
package shield
