// Package redacting takes secrets out of texts, by value, in whatever form a text has
// them: quoted once or more often, escaped for JSON, HTML or a URL, in base64 or
// hexadecimal, on lines that are indented, wrapped, numbered or marked as a diff, with
// characters in between that nobody sees, and numbers in any spelling.
//
// It is a text that is searched, and not the values before they are written: values that
// are known to be secret are not written in the first place, and what this package is
// for comes from elsewhere: an error of a provider, a line of source, an attribute that
// no schema marks. None of these is a value by the time that it is known.
//
// The forms are not listed and searched for one by one, for they can be combined. Both
// the secret and the text are reduced to the characters that people see, without blank
// space, and the text is decoded as long as there is something to decode; each step
// remembers where in the text its characters come from. What is found in any step is
// taken out of the text. The work is linear in the text, and does not grow with the
// number of secrets: see index.go.
//
// It refuses to know what is a secret, where texts go, and what a plan is. Start at
// secrets.go.
package redacting
