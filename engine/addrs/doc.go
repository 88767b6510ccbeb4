// Package addrs names things: modules, resources, instances, providers, and everything else that a
// configuration, a state or a plan can point at.
//
// Every address is a small comparable value, usable as a map key, and prints as Terraform prints
// it, byte for byte; Parse functions are the inverse of String. The package refuses to know the
// things behind the addresses, and imports nothing of Lockstep.
//
// Start at [ResourceInstance] and [AbsResourceInstance] for the things that the engine plans and
// applies, at [Module] and [ModuleInstance] for where they live.
package addrs
