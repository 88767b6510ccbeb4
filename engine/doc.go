// Package engine plans and applies Terraform-language configurations.
//
// It is thin functions over packages that each know one thing. The tour:
//
//	files -> loading.Load -> Config -> refs.Analyze -> Refs     static: cycles are found before anything is evaluated
//	planning = walk over resources, after = refs
//	           visit: instance keys -> configuration value (eval) -> read -> provider plan -> change
//	order    = changes -> steps and the edges between them     pure
//	applying = walk over steps: configuration value (eval) -> provider plan again -> checks -> provider apply -> state
//
// A configuration is data (config), a plan is data (plans), the order of steps is
// data (order), the existing objects are data (states). Effects happen in provider only; the
// caller reads and writes the state. eval gives expressions their values
// and knows no phase; session is shared by both walks; walk is the only package
// that starts goroutines, beside provider's process starts; render turns
// everything into text, Markdown and JSON, and graphs draws Terraform's picture of it. testruns carries out
// test files with these functions, with mocks in the place of providers.
//
// Start at [Plan] and [Apply], and at the example.
package engine
