// Package addrs names things: modules, resources, instances, providers, and
// everything else that a configuration, a state or a plan can point at.
//
// Every address is a small comparable value, usable as a map key, and prints as
// Terraform prints it, byte for byte; Parse functions read what String writes.
// The package refuses to know what any address stands for, and imports nothing
// of Lockstep.
//
// Start at [ResourceInstance] and [AbsResourceInstance] for what the engine
// plans and applies, at [Module] and [ModuleInstance] for where things live.
package addrs
