// Package shield closes the memory of a process of ours to other processes of the same user:
// plugins, and programs that a plan runs. Every program with credentials raises it before it reads
// any: the functions in package wiring, `lockstep serve` itself.
//
// It refuses to know the secrets. Start at [Raise].
package shield
