//go:build !unix

package funcs

const nonBlocking = 0
