package risks

import (
	_ "embed" // for the tables
	"fmt"
	"strings"
	"sync"
)

//go:embed stateful.txt
var statefulTable string

//go:embed documents.txt
var documentTable string

// statefulTypes are the nouns of resource types that keep data, by type.
var statefulTypes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, row := range rows(statefulTable) {
		out[row[0]] = strings.Join(row[1:], " ")
	}
	return out
})

// A document is an attribute with a policy, and what the policy is: "rights", "trust" or "resource".
type document struct{ attribute, kind string }

// documents are the attributes with policies, by resource type.
var documents = sync.OnceValue(func() map[string]document {
	out := map[string]document{}
	for _, row := range rows(documentTable) {
		out[row[0]] = document{row[1], row[2]}
	}
	return out
})

// rows returns the fields of the rows of a table. It panics if a row has fewer than two.
func rows(table string) (out [][]string) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 2 {
			panic(fmt.Sprintf("risks: a table has the row %q", line))
		}
		out = append(out, fields)
	}
	return out
}
