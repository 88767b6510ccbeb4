package toolresults

import (
	"strconv"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// severityOf returns the severity of a result; "" if the result is not a finding but says, for example, that a check
// passed.
func severityOf(x sarifResult, rule rule) Severity {
	level := x.level
	if level == "" && x.kind != "" && x.kind != "fail" {
		level = "none"
	}
	if level == "" {
		level = rule.level
	}
	if level == "none" {
		return ""
	}
	for _, text := range []string{x.security, rule.security} {
		if s := securitySeverity(text); s != "" {
			return s
		}
	}
	switch level {
	case "error":
		return Error
	case "note":
		return Note
	}
	return Warning // the default of the specification
}

// score matches numbers like 7.5.
var score = lazyregexp.New(`^[0-9]{1,2}(\.[0-9]{1,10})?$`)

// securitySeverity returns the severity for a number from 0.1 to 10; "" for any other text.
func securitySeverity(text string) Severity {
	if !score.MatchString(text) {
		return ""
	}
	switch n, _ := strconv.ParseFloat(text, 64); {
	case n > 10 || n <= 0:
		return ""
	case n >= 9:
		return Critical
	case n >= 7:
		return High
	case n >= 4:
		return Medium
	}
	return Low
}

// percent matches numbers from 0 to 100, and the integers before their points.
var percent = lazyregexp.New(`^([0-9]{1,3})(\.[0-9]{1,20})?$`)

// rankOf returns the priority from 1 to 100; 0 if there is none.
func rankOf(text string) int {
	m := percent.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return min(n, 100)
}
