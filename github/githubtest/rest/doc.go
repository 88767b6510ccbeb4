// Package rest has the form of answers of GitHub's REST API: JSON objects, pages with a link to the next one,
// errors with a message, rate limit headers. It does not know which resources exist: other packages return a
// status and a body, and [Send] writes both. Start at [Handler].
package rest
