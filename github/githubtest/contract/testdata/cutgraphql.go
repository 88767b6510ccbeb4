// Command cutgraphql makes the schema of GitHub's GraphQL API that this package reads of the whole one,
// which has 1.5 MB: the members below, with their types. From the repository's root:
//
//	npm pack @octokit/graphql-schema@15.26.1 && tar xzf octokit-graphql-schema-15.26.1.tgz package/schema.graphql
//	go run ./github/githubtest/contract/testdata/cutgraphql.go package/schema.graphql github/githubtest/contract/github.graphql
package main

import (
	"log"
	"os"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// members are those that the client asks for, by type.
var members = map[string][]string{
	"Query":                             {"repository"},
	"Repository":                        {"databaseId", "pullRequest"},
	"PullRequest":                       {"id", "headRefOid", "reviewDecision", "reviewThreads", "number", "mergeQueue", "isInMergeQueue", "isMergeQueueEnabled"},
	"Mutation":                          {"enqueuePullRequest", "minimizeComment"},
	"MinimizeCommentInput":              nil, // whole
	"MinimizeCommentPayload":            {"minimizedComment"},
	"Minimizable":                       {"isMinimized"},
	"ReportedContentClassifiers":        nil, // whole
	"EnqueuePullRequestInput":           nil, // whole
	"EnqueuePullRequestPayload":         {"mergeQueueEntry"},
	"MergeQueue":                        {"entries"},
	"MergeQueueEntryConnection":         {"nodes", "pageInfo"},
	"MergeQueueEntry":                   {"enqueuedAt", "headCommit", "pullRequest", "enqueuer"},
	"DateTime":                          nil, // a scalar
	"Actor":                             {"login"},
	"Commit":                            {"oid"},
	"GitObjectID":                       nil, // a scalar
	"PullRequestReviewThreadConnection": {"nodes", "pageInfo"},
	"PullRequestReviewThread":           {"isResolved"},
	"PageInfo":                          {"hasNextPage", "endCursor"},
	"PullRequestReviewDecision":         nil, // whole
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: cutgraphql WHOLE CUT")
	}
	src, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	doc, err := parser.ParseSchema(&ast.Source{Name: os.Args[1], Input: string(src)})
	if err != nil {
		log.Fatal(err)
	}
	cut := &ast.SchemaDocument{}
	for _, d := range doc.Definitions {
		keep, ok := members[d.Name]
		if !ok {
			continue
		}
		d.Interfaces, d.Directives, d.Description = nil, nil, ""
		if keep != nil {
			d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool { return !slices.Contains(keep, f.Name) })
		}
		for _, f := range d.Fields {
			f.Description, f.Directives = "", nil
			for _, a := range f.Arguments {
				a.Description = ""
			}
		}
		for _, v := range d.EnumValues {
			v.Description = ""
		}
		cut.Definitions = append(cut.Definitions, d)
	}
	if len(cut.Definitions) != len(members) {
		log.Fatalf("%d of %d types were found", len(cut.Definitions), len(members))
	}
	var out strings.Builder
	formatter.NewFormatter(&out).FormatSchemaDocument(cut)
	if err := os.WriteFile(os.Args[2], []byte(out.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}
