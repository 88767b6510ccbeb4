package commits

import (
	"cmp"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// JSON returns the commit as lists show it. repo is the repository that the answer is about, as "owner/name".
// author and committer are the users whom GitHub knows for the commit, or nil.
func (c *Commit) JSON(repo string, author, committer rest.Object) rest.Object {
	api, web := rest.APIURL+"repos/"+repo, rest.WebURL+repo+"/commit/"
	person := func(name string) rest.Object {
		return rest.Object{"name": name, "email": name + "@example.org", "date": rest.Stamp(c.At)}
	}
	parents := []any{}
	for _, p := range c.Parents {
		parents = append(parents, rest.Object{"sha": p, "url": api + "/commits/" + p, "html_url": web + p})
	}
	o := rest.Object{
		"sha": c.SHA, "node_id": "C_" + c.SHA, "url": api + "/commits/" + c.SHA, "html_url": web + c.SHA, "comments_url": api + "/commits/" + c.SHA + "/comments",
		"commit": rest.Object{
			"author": person(c.Author), "committer": person(cmp.Or(c.Committer, c.Author)), "message": c.Message, "tree": rest.Object{"sha": c.Tree(), "url": api + "/git/trees/" + c.Tree()},
			"url": api + "/git/commits/" + c.SHA, "comment_count": 0,
		},
		"author": nil, "committer": nil, "parents": parents,
	}
	if author != nil {
		o["author"] = author
	}
	if committer != nil {
		o["committer"] = committer
	}
	return o
}

// Signature returns the name and date of the commit's author, as answers show them beside the account.
func (c *Commit) Signature() rest.Object {
	return rest.Object{"name": c.Author, "email": c.Author + "@users.noreply.github.example"}
}
