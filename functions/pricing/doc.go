// Package pricing estimates the price of a deployment on AWS. It estimates a month in which nothing happens,
// and plans and applies.
//
// It multiplies quantities by prices. A [Recording] has the quantities for single events, as the end-to-end
// tests have counted them. [Prices] are a table of AWS' prices, each with its source. The package does not know
// why a request is made. Start reading at [Estimate].
package pricing
