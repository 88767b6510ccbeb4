package risks

import (
	"slices"
	"strings"
)

// nameOf returns the name of the risk of a policy.
func nameOf(kind string) Name {
	if kind == "resource" {
		return publicAccess
	}
	return iamWidened
}

// compared compares a policy before and after a change.
func compared(d document) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, known := before.text(d.attribute)
		if !known {
			was = ""
		}
		is, known := after.text(d.attribute)
		if !known {
			f.add(true, "%s: the plan does not show the policy", widens[d.kind])
			return f
		}
		f.policies(d.kind, []string{was}, []string{is})
		return f
	}
}

// widens are phrases about policies that cannot be read, by kind.
var widens = map[string]string{
	"rights": "allow every action", "trust": "let everybody use the role", "resource": "let everybody in",
}

// policies compares the policies of an object before and after a change.
func (f *finding) policies(kind string, before, after []string) {
	var was []grant
	for _, p := range before {
		if r, err := grants(p); err == nil {
			was = append(was, r.grants...)
		}
	}
	for _, p := range after {
		is, err := grants(p)
		if err != nil {
			f.add(true, "%s: Lockstep cannot read the policy", widens[kind])
			continue
		}
		bad, unknown := grant.broad, is.rights
		if kind != "rights" {
			bad, unknown = func(g grant) bool { return g.everybody }, is.callers
		}
		for _, g := range is.grants {
			if bad(g) && !slices.ContainsFunc(was, func(b grant) bool { return bad(b) && g.within(b) }) {
				f.grant(kind, g)
			}
		}
		if unknown {
			f.add(true, "%s: the plan does not show the policy", widens[kind])
		}
	}
}

func (f *finding) grant(kind string, g grant) {
	what := quote(g.shown)
	if g.action == "*" {
		what = "every action"
	}
	on := " on " + quote(g.resource)
	switch {
	case kind == "trust":
		on = ""
	case g.resource == hidden:
		on = " on what the plan does not show"
	case g.resource == "*":
		on = " on everything"
	}
	if kind == "resource" && g.resource == "*" {
		on = ""
	}
	if g.condition != "" {
		on += " on conditions"
	}
	if kind == "rights" {
		f.add(false, "allow %s%s", what, on)
		return
	}
	f.add(false, "let everybody do %s%s", what, on)
}

// inlinePolicies compares the policies inside of aws_iam_role.
func inlinePolicies(before, after object) (f finding) {
	read := func(o object) (out []string, known bool) {
		list, known := o.blocks("inline_policy")
		for _, x := range list {
			p, ok := x.text("policy")
			if known = known && ok; ok {
				out = append(out, p)
			}
		}
		return out, known
	}
	was, _ := read(before)
	is, known := read(after)
	if f.policies("rights", was, is); !known {
		f.add(true, "allow every action: the plan does not show the policy")
	}
	return f
}

// managed are the policies of AWS with rights without limits.
var managed = []string{"AdministratorAccess", "IAMFullAccess", "PowerUserAccess"}

// attached finds attachments of [managed] policies.
func attached(name string) func(before, after object) finding {
	wide := func(arn string) string {
		_, policy, _ := strings.Cut(arn, ":iam::aws:policy/")
		if slices.Contains(managed, policy) {
			return policy
		}
		return ""
	}
	return func(before, after object) (f finding) {
		was, _ := values(before, name)
		is, known := values(after, name)
		for _, arn := range is {
			if p := wide(arn); p != "" && !slices.Contains(was, arn) {
				f.add(false, "give the policy %s", p)
			}
		}
		if !known {
			f.add(true, "give a policy with all rights: the plan does not show %s", name)
		}
		return f
	}
}

// lambdaPermission finds permissions for everybody to call a function.
func lambdaPermission(before, after object) (f finding) {
	public := func(o object) (is, may bool) {
		principal, known := o.text("principal")
		if known && principal != "*" {
			return false, false
		}
		for _, n := range []string{"source_arn", "source_account", "principal_org_id"} {
			if text, shown := o.text(n); text != "" {
				return false, false
			} else if !shown {
				known = false
			}
		}
		return known, !known
	}
	was, _ := public(before)
	is, may := public(after)
	switch {
	case is && !was:
		f.add(false, "let everybody call the function")
	case may:
		f.add(true, "let everybody call the function: the plan does not show for whom")
	}
	return f
}

// bucketACL finds access control lists of S3 for everybody, or for everybody with an account of AWS. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html
func bucketACL(before, after object) (f finding) {
	was, _ := granted(before)
	is, known := granted(after)
	for _, verb := range is {
		if !slices.Contains(was, verb) {
			f.add(false, "let everybody %s the bucket", verb)
		}
	}
	if !known {
		f.add(true, "let everybody use the bucket: the plan does not show its access control list")
	}
	return f
}

// granted returns what everybody may do with a bucket: "read", "write", "control".
func granted(o object) (out []string, known bool) {
	add := func(verb string) {
		if !slices.Contains(out, verb) {
			out = append(out, verb)
		}
	}
	acl, known := o.text("acl")
	switch acl {
	case "public-read", "authenticated-read":
		add("read")
	case "public-read-write":
		add("read")
		add("write")
	}
	var grants []object
	list, ok := o.blocks("grant") // of aws_s3_bucket
	known, grants = known && ok, list
	policies, ok := o.blocks("access_control_policy")
	known = known && ok
	for _, p := range policies {
		list, ok := p.blocks("grant")
		known, grants = known && ok, append(grants, list...)
	}
	for _, g := range grants {
		to := []object{g}
		if list, ok := g.blocks("grantee"); !ok {
			known = false
		} else {
			to = append(to, list...)
		}
		for _, x := range to {
			uri, ok := x.text("uri")
			if known = known && ok; !strings.HasSuffix(uri, "/AllUsers") && !strings.HasSuffix(uri, "/AuthenticatedUsers") {
				continue
			}
			one, ok1 := g.text("permission")
			some, ok2 := g.texts("permissions")
			known = known && ok1 && ok2
			for _, p := range append(some, one) {
				switch p {
				case "READ", "READ_ACP":
					add("read")
				case "WRITE":
					add("write")
				case "WRITE_ACP", "FULL_CONTROL":
					add("control")
				}
			}
		}
	}
	return out, known
}
