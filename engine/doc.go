// Package engine plans and applies Terraform-language configurations.
//
// It has thin functions that call packages with one task each. An overview:
//
//	files -> loading.Load -> Config -> refs.Analyze -> Refs     static: cycles are found before anything is evaluated
//	planning = walk over resources, after = refs
//	           visit: instance keys -> configuration value (eval) -> read -> provider plan -> change
//	order    = changes -> steps and the edges between them     pure
//	applying = walk over steps: configuration value (eval) -> provider plan again -> checks -> provider apply -> state
//
// A configuration is data (config), a plan is data (plans), the order of steps is data (order), the existing
// objects are data (states). Only package provider has effects; the caller reads and writes the state. eval
// gives expressions their values, and is the same for plan and apply. session is shared by both walks. Only
// walk starts goroutines, apart from provider's process starts. render turns everything into text, Markdown
// and JSON. graphs draws Terraform's picture of a plan. testruns runs test files with these functions, and
// mocks in place of providers.
//
// Start at [Plan] and [Apply], and at the example.
package engine
