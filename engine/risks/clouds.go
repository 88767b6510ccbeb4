package risks

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// authorizedNetworks reads the networks that may reach google_sql_database_instance.
func authorizedNetworks(o object) (r rule) {
	what := []gap{{protocol: "all", ports: allPorts}}
	settings, known := o.blocks("settings")
	r.unseen = !known
	for _, s := range settings {
		ip, known := s.blocks("ip_configuration")
		r.unseen = r.unseen || !known
		for _, x := range ip {
			networks, known := x.blocks("authorized_networks")
			r.unseen = r.unseen || !known
			for _, n := range networks {
				from, known := n.text("value")
				r.add(what, []string{from}, known)
			}
		}
	}
	return r
}

// everybodyOf are the members of Google Cloud that stand for everybody.
var everybodyOf = []string{"allUsers", "allAuthenticatedUsers"}

// wideRoles are the roles of Google Cloud with rights without limits.
var wideRoles = []string{"roles/owner", "roles/editor"}

// A binding gives a role to members.
type binding struct {
	role    string
	members []string
}

// members returns the checks of a resource type of Google Cloud that gives a role to members.
func members(attribute string) []check {
	read := func(o object) (b binding, known bool) {
		role, known1 := o.text("role")
		list, known2 := o.all(attribute)
		if v, one := o[attribute]; one && !v.IsNull() && v.Type() == cty.String {
			list, known2 = []cty.Value{v}, true
		}
		for _, v := range list {
			m, known := memberOf(v)
			if known2 = known2 && known; known {
				b.members = append(b.members, m)
			}
		}
		b.role = role
		return b, known1 && known2
	}
	of := func(name Name) check {
		return check{name: name, reads: []string{"role", attribute}, find: func(before, after object) (f finding) {
			was, _ := read(before)
			is, known := read(after)
			f.bindings(name, []binding{was}, []binding{is}, known)
			return f
		}}
	}
	return []check{of(publicAccess), of(iamWidened)}
}

// memberOf returns a member. A member with a kind, such as "serviceAccount:", is a particular account, even if the
// plan does not show the rest of the member.
func memberOf(v cty.Value) (string, bool) {
	if !v.IsKnown() && v.Type() == cty.String {
		if start := v.Range().StringPrefix(); strings.Contains(start, ":") {
			return start + "…", true
		}
	}
	return textOf(v)
}

// bindings compares policies of Google Cloud in JSON. Source:
// https://cloud.google.com/iam/docs/reference/rest/v1/Policy
func bindings(name Name) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, _ := bindingsIn(before)
		is, known := bindingsIn(after)
		f.bindings(name, was, is, known)
		return f
	}
}

// bindingsIn reads the policy of a resource type of Google Cloud. known is false if some of it cannot be read.
func bindingsIn(o object) (out []binding, known bool) {
	text, known := o.text("policy_data")
	if !known || text == "" {
		return nil, known
	}
	doc, err := decode(text)
	root, ok := doc.(map[string]any)
	if err != nil || !ok {
		return nil, false
	}
	for _, x := range listOf(root["bindings"]) {
		one, _ := x.(map[string]any)
		b := binding{}
		b.role, _ = one["role"].(string)
		for _, m := range listOf(one["members"]) {
			if s, ok := m.(string); ok {
				b.members = append(b.members, s)
			}
		}
		out = append(out, b)
	}
	return out, true
}

// bindings adds phrases about what is given to everybody, or about roles without limits.
func (f *finding) bindings(name Name, before, after []binding, known bool) {
	had := map[[2]string]bool{}
	for _, b := range before {
		for _, m := range b.members {
			had[[2]string{b.role, m}] = true
		}
	}
	for _, b := range after {
		for _, m := range b.members {
			switch {
			case had[[2]string{b.role, m}]:
			case name == publicAccess && slices.Contains(everybodyOf, m):
				f.add(false, "give everybody (%s) the role %s", m, quote(b.role))
			case name == iamWidened && slices.Contains(wideRoles, b.role):
				f.add(false, "give the role %s to %s", b.role, quote(m))
			}
		}
	}
	if known {
		return
	}
	// A role or members that the plan shows can make the risk impossible.
	for _, b := range after {
		if len(after) == 1 && (name == iamWidened && b.role != "" && !slices.Contains(wideRoles, b.role) || name == publicAccess && len(b.members) > 0) {
			return
		}
	}
	if name == publicAccess {
		f.add(true, "give everybody a role: the plan does not show all members")
	} else {
		f.add(true, "give a role with all rights: the plan does not show all of it")
	}
}

// storageACL finds access control lists of Google Cloud Storage for everybody. Source:
// https://cloud.google.com/storage/docs/access-control/lists#predefined-acl
func storageACL(before, after object) (f finding) {
	read := func(o object) (out []string, known bool) {
		acl, known1 := o.text("predefined_acl")
		list, known2 := o.texts("role_entity")
		switch acl {
		case "publicRead", "authenticatedRead":
			out = append(out, "read")
		case "publicReadWrite":
			out = append(out, "read", "write")
		}
		for _, x := range list {
			if role, entity, _ := strings.Cut(x, ":"); slices.Contains(everybodyOf, entity) {
				out = append(out, map[string]string{"READER": "read", "WRITER": "write"}[role])
			}
		}
		return out, known1 && known2
	}
	was, _ := read(before)
	is, known := read(after)
	for _, verb := range is {
		if verb == "" { // OWNER
			verb = "control"
		}
		if !slices.Contains(was, verb) {
			f.add(false, "let everybody %s the bucket", verb)
		}
	}
	if !known {
		f.add(true, "let everybody use the bucket: the plan does not show its access control list")
	}
	return f
}

// azureRoles has the names of Azure's built-in roles that can change all resources or grant rights, by the last part of
// their IDs. Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var azureRoles = map[string]string{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
	"b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
	"18d7d88d-d35e-4fb5-a5c3-77c20a72d9a9": "User Access Administrator",
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}

// roleAssignment finds assignments of [azureRoles]. A role has a name or an ID.
func roleAssignment(before, after object) (f finding) {
	read := func(o object) (role string, known bool) {
		name, known := o.text("role_definition_name")
		if name != "" {
			for _, n := range azureRoles {
				if strings.EqualFold(name, n) {
					return n, true
				}
			}
			return "", true
		}
		id, known2 := o.text("role_definition_id")
		return azureRoles[strings.ToLower(id[strings.LastIndex(id, "/")+1:])], known2 && (known || id != "")
	}
	was, _ := read(before)
	is, known := read(after)
	switch {
	case is != "" && is != was:
		f.add(false, "give the role %s", is)
	case !known:
		f.add(true, "give a role with all rights: the plan does not show the role")
	}
	return f
}

// roleDefinition finds roles of Azure with every action.
func roleDefinition(before, after object) (f finding) {
	read := func(o object) (every, known bool) {
		list, known := o.blocks("permissions")
		for _, p := range list {
			actions, ok := p.texts("actions")
			known, every = known && ok, every || slices.Contains(actions, "*")
		}
		return every, known
	}
	was, _ := read(before)
	is, known := read(after)
	switch {
	case is && !was:
		f.add(false, "allow every action")
	case !known:
		f.add(true, "allow every action: the plan does not show its permissions")
	}
	return f
}
