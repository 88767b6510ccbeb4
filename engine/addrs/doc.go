// Package addrs has the addresses of modules, resources, instances, providers, and everything else that a
// configuration, a state or a plan can refer to.
//
// Every address is a small comparable value that can be a map key. It prints exactly as Terraform prints it.
// Parse functions are the inverse of String. The package knows nothing of the objects at the addresses, and
// imports nothing of Lockstep.
//
// Start at [ResourceInstance] and [AbsResourceInstance] for the objects that the engine plans and applies,
// and at [Module] and [ModuleInstance] for the modules that contain them.
package addrs
