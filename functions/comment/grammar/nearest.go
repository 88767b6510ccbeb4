package grammar

import "strings"

// nearestVerb returns the verb that is most similar to s. If none is similar, it returns Help, and ok is false.
func nearestVerb(s string) (v Verb, ok bool) {
	var names []string
	for _, v := range Verbs() {
		names = append(names, string(v))
	}
	// A verb that means the opposite is never suggested. For example, "taint" is never suggested for a word
	// that begins with "un".
	if i := nearest(s, names); i >= 0 && undoes(s) == undoes(names[i]) {
		return Verbs()[i], true
	}
	return Help, false
}

// undoes reports whether a verb begins with "un". Such a verb means the opposite of another one, as "untaint".
func undoes(verb string) bool { return strings.HasPrefix(strings.ToLower(verb), "un") }

// nearestOption returns the option whose name is most similar to s; nil if none is similar.
func nearestOption(s string) *option {
	var names []string
	var of []*option
	for _, o := range all {
		for _, n := range o.names {
			names, of = append(names, n), append(of, o)
		}
	}
	if i := nearest(s, names); i >= 0 && len(s) > 2 {
		return of[i]
	}
	return nil
}

// nearest returns the index of the name in names that is most similar to s. It returns -1 if no name is
// similar, or if two names are equally similar.
func nearest(s string, names []string) int {
	best, least := -1, 3
	for i, name := range names {
		switch d := distance(strings.ToLower(s), name); {
		case d < least:
			best, least = i, d
		case d == least:
			best = -1
		}
	}
	return best
}

// distance returns how many letters have to be added, removed or changed to turn a into b.
func distance(a, b string) int {
	if len(a) > 20 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
