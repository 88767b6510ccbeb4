package jsonvalues

// SameText reports whether two JSON texts are equal, apart from white space between their parts.
func SameText(a, b []byte) bool {
	quoted := false
	for {
		if !quoted {
			a, b = afterSpace(a), afterSpace(b)
		}
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		n := 1
		switch {
		case a[0] == '"':
			quoted = !quoted
		case a[0] == '\\' && len(a) > 1 && len(b) > 1 && a[1] == b[1]:
			n = 2 // an escaped quote does not end the string
		}
		a, b = a[n:], b[n:]
	}
}

func afterSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}
