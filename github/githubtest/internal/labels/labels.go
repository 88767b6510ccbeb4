// Package labels has the JSON of GitHub's labels. It refuses to know what has them. Start at [JSON].
package labels

import "github.com/lockstep-iac/lockstep/github/githubtest/rest"

// JSON are labels by their names.
func JSON(labels []string) []any {
	list := []any{}
	for i, name := range labels {
		id := int64(5000 + i)
		list = append(list, rest.Object{
			"id": id, "node_id": rest.NodeID("Label", id), "url": rest.APIURL + "labels/" + name, "name": name, "color": "ededed", "default": false, "description": "",
		})
	}
	return list
}
