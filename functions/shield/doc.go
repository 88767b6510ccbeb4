// Package shield closes the memory of a Lockstep process to other processes of the same user: plugins, and
// programs that a plan runs. Every program calls [Raise] before it reads credentials: the functions (in package
// wiring), and `lockstep serve`.
//
// It does not know the secrets. Start reading at [Raise].
package shield
