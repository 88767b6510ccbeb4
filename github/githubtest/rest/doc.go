// Package rest is GitHub's way of answering: JSON objects, pages with a link to the next one,
// errors with a message, the headers of the rate limit. It refuses to know which resources
// there are; the packages that do return a status and a body, and [Send] writes both. Start
// at [Handler].
package rest
