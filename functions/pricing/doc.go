// Package pricing is the price of a deployment on AWS: of a month in which nothing happens, and of
// plans and applies.
//
// It multiplies. A [Recording] has the quantities of single events, as the end-to-end tests have
// counted them; [Prices] are a table of AWS' prices, each with its source. The package refuses to know
// the cause of a request. Start at [Estimate].
package pricing
