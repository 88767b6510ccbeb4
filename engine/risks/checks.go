package risks

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// A check compares attributes of an object before and after a change.
type check struct {
	name Name
	// reads are the attributes that the check is about. If none of them changes, there is no risk.
	reads []string
	find  func(before, after object) finding
	// inside is the path of a nested block. If the configuration does not have this block, the provider chooses
	// the values that the plan does not show. Such values count as harmless.
	inside []string
	// document is set for a policy in JSON.
	document bool
	// made are attributes, as "TYPE.ATTRIBUTE", that are harmless as the value of the first of reads. For
	// example, a plan does not show the ID of a policy that the same plan creates. But such a policy cannot be one of the
	// cloud's own policies, which may allow everything.
	made []string
}

// checks are the checks of resource types that have their own. See [checksOf] for checks of many types. Sources
// are the schema of hashicorp/aws 6, and the documentation of hashicorp/azurerm 4 and hashicorp/google 7.
var checks = map[string][]check{
	"aws_security_group":                  {{name: publicIngress, reads: []string{"ingress"}, find: ingress(securityGroup)}},
	"aws_default_security_group":          {{name: publicIngress, reads: []string{"ingress"}, find: ingress(securityGroup)}},
	"aws_security_group_rule":             {{name: publicIngress, reads: []string{"type", "protocol", "from_port", "to_port", "cidr_blocks", "ipv6_cidr_blocks"}, find: ingress(securityGroupRule)}},
	"aws_vpc_security_group_ingress_rule": {{name: publicIngress, reads: []string{"ip_protocol", "from_port", "to_port", "cidr_ipv4", "cidr_ipv6"}, find: ingress(ingressRule)}},
	"azurerm_network_security_rule": {{name: publicIngress, reads: []string{"direction", "access", "protocol", "destination_port_range", "destination_port_ranges",
		"source_address_prefix", "source_address_prefixes"}, find: ingress(networkSecurityRule)}},
	"azurerm_network_security_group":                   {{name: publicIngress, reads: []string{"security_rule"}, find: ingress(networkSecurityGroup)}},
	"azurerm_mssql_firewall_rule":                      {{name: publicIngress, reads: addressRange, find: ingress(firewallRange("start_ip_address", "end_ip_address"))}},
	"azurerm_mysql_flexible_server_firewall_rule":      {{name: publicIngress, reads: addressRange, find: ingress(firewallRange("start_ip_address", "end_ip_address"))}},
	"azurerm_postgresql_flexible_server_firewall_rule": {{name: publicIngress, reads: addressRange, find: ingress(firewallRange("start_ip_address", "end_ip_address"))}},
	"azurerm_cosmosdb_postgresql_firewall_rule":        {{name: publicIngress, reads: addressRange, find: ingress(firewallRange("start_ip_address", "end_ip_address"))}},
	"azurerm_synapse_firewall_rule":                    {{name: publicIngress, reads: addressRange, find: ingress(firewallRange("start_ip_address", "end_ip_address"))}},
	"azurerm_redis_firewall_rule":                      {{name: publicIngress, reads: []string{"start_ip", "end_ip"}, find: ingress(firewallRange("start_ip", "end_ip"))}},
	"google_compute_firewall":                          {{name: publicIngress, reads: []string{"direction", "disabled", "allow", "source_ranges", "source_tags", "source_service_accounts"}, find: ingress(firewall)}},
	"google_sql_database_instance":                     {{name: publicIngress, reads: []string{"settings"}, find: ingress(authorizedNetworks), inside: []string{"settings", "ip_configuration", "authorized_networks"}}},

	"aws_s3_bucket":                      {{name: publicAccess, reads: []string{"acl", "grant"}, find: bucketACL}},
	"aws_s3_bucket_acl":                  {{name: publicAccess, reads: []string{"acl", "access_control_policy"}, find: bucketACL}},
	"aws_s3_bucket_public_access_block":  {{name: publicAccess, reads: append([]string{"bucket"}, blocks...), find: turnedOff(blocks)}},
	"aws_s3_account_public_access_block": {{name: publicAccess, reads: blocks, find: turnedOff(blocks)}},
	"aws_lambda_permission":              {{name: publicAccess, reads: []string{"principal", "action", "source_arn", "source_account", "principal_org_id"}, find: lambdaPermission}},
	"aws_lambda_function_url":            {{name: publicAccess, reads: []string{"authorization_type"}, find: becomes("authorization_type", "let everybody call the function", "NONE")}},
	"azurerm_storage_container":          {{name: publicAccess, reads: []string{"container_access_type"}, find: becomes("container_access_type", "let everybody read the bucket", "blob", "container")}},
	"azurerm_storage_account":            {{name: publicAccess, reads: []string{"allow_nested_items_to_be_public"}, find: turns("allow_nested_items_to_be_public", true, "allow public buckets")}},
	"google_storage_bucket": {{name: publicAccess, reads: []string{"public_access_prevention"}, find: leaves("public_access_prevention", "enforced",
		"turn off the prevention of public access")}},
	"google_storage_bucket_access_control":         {{name: publicAccess, reads: []string{"entity", "role"}, find: becomes("entity", "let everybody use the bucket", "allUsers", "allAuthenticatedUsers")}},
	"google_storage_default_object_access_control": {{name: publicAccess, reads: []string{"entity", "role"}, find: becomes("entity", "let everybody use the objects", "allUsers", "allAuthenticatedUsers")}},
	"google_storage_object_access_control":         {{name: publicAccess, reads: []string{"entity", "role"}, find: becomes("entity", "let everybody use the object", "allUsers", "allAuthenticatedUsers")}},
	"google_storage_bucket_acl":                    {{name: publicAccess, reads: []string{"predefined_acl", "role_entity"}, find: storageACL}},
	"google_storage_default_object_acl":            {{name: publicAccess, reads: []string{"role_entity"}, find: storageACL}},
	"google_storage_object_acl":                    {{name: publicAccess, reads: []string{"predefined_acl", "role_entity"}, find: storageACL}},

	"aws_iam_role":                           {{name: iamWidened, reads: []string{"inline_policy"}, find: inlinePolicies}, {name: iamWidened, reads: []string{"managed_policy_arns"}, find: attached("managed_policy_arns")}},
	"aws_iam_role_policy_attachment":         {{name: iamWidened, reads: []string{"policy_arn"}, find: attached("policy_arn"), made: ownPolicy}},
	"aws_iam_user_policy_attachment":         {{name: iamWidened, reads: []string{"policy_arn"}, find: attached("policy_arn"), made: ownPolicy}},
	"aws_iam_group_policy_attachment":        {{name: iamWidened, reads: []string{"policy_arn"}, find: attached("policy_arn"), made: ownPolicy}},
	"aws_iam_policy_attachment":              {{name: iamWidened, reads: []string{"policy_arn"}, find: attached("policy_arn"), made: ownPolicy}},
	"aws_ssoadmin_managed_policy_attachment": {{name: iamWidened, reads: []string{"managed_policy_arn"}, find: attached("managed_policy_arn")}},
	"azurerm_role_assignment":                {{name: iamWidened, reads: []string{"role_definition_id", "role_definition_name"}, find: roleAssignment, made: []string{"azurerm_role_definition.id", "azurerm_role_definition.role_definition_resource_id"}}},
	"azurerm_role_definition":                {{name: iamWidened, reads: []string{"permissions"}, find: roleDefinition}},
}

var (
	ownPolicy    = []string{"aws_iam_policy.arn", "aws_iam_policy.id"}
	addressRange = []string{"start_ip_address", "end_ip_address"}
	blocks       = []string{"block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"}
)

// checksOf returns the checks of a resource type.
func checksOf(kind string) (out []check) {
	out = slices.Clone(checks[kind])
	if d, is := documents()[kind]; is {
		out = append(out, check{name: nameOf(d.kind), reads: []string{d.attribute}, find: compared(d), document: true})
	}
	switch {
	case strings.HasPrefix(kind, "aws_"):
		out = append(out, check{name: publicAccess, reads: []string{"publicly_accessible"}, find: turns("publicly_accessible", true, "give it an address on the internet")})
	case strings.HasPrefix(kind, "azurerm_"):
		out = append(out, check{name: publicAccess, reads: []string{"public_network_access_enabled"}, find: opens("public_network_access_enabled", "open it to public networks")})
	case strings.HasPrefix(kind, "google_") && strings.HasSuffix(kind, "_iam_member"):
		out = append(out, members("member")...)
	case strings.HasPrefix(kind, "google_") && strings.HasSuffix(kind, "_iam_binding"):
		out = append(out, members("members")...)
	case strings.HasPrefix(kind, "google_") && strings.HasSuffix(kind, "_iam_policy"):
		out = append(out, check{name: publicAccess, reads: []string{"policy_data"}, find: bindings(publicAccess)}, check{name: iamWidened, reads: []string{"policy_data"}, find: bindings(iamWidened)})
	}
	return out
}

// becomes finds an attribute that has one of the bad values after the change, and had none of them
// before.
func becomes(name, phrase string, bad ...string) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, _ := before.text(name)
		is, known := after.text(name)
		switch {
		case !known:
			f.add(true, "%s: the plan does not show %s", phrase, name)
		case slices.Contains(bad, is) && !slices.Contains(bad, was):
			f.add(false, "%s", phrase)
		}
		return f
	}
}

// turns finds a boolean attribute that has the value to after the change, and had another value or none
// before.
func turns(name string, to bool, phrase string) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, knownBefore := before.flag(name)
		is, known := after.flag(name)
		switch {
		case after[name].IsKnown() && after[name].IsNull():
		case !known:
			f.add(true, "%s: the plan does not show %s", phrase, name)
		case is == to && (was != to || !knownBefore || before[name].IsNull()):
			f.add(false, "%s", phrase)
		}
		return f
	}
}

// opens is like turns, for a boolean attribute that is true by default. Only an object for which it was
// false can become worse.
func opens(name, phrase string) func(before, after object) finding {
	find := turns(name, true, phrase)
	return func(before, after object) finding {
		if on, known := before.flag(name); known && (on || before[name].IsNull()) {
			return finding{}
		}
		return find(before, after)
	}
}

// leaves finds an attribute that had the value good before the change, and has another value after it.
func leaves(name, good, phrase string) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, knownBefore := before.text(name)
		is, known := after.text(name)
		switch {
		case !after.exists() || knownBefore && was != good:
		case !known:
			f.add(true, "%s: the plan does not show %s", phrase, name)
		case is != good:
			f.add(false, "%s", phrase)
		}
		return f
	}
}

// turnedOff finds boolean attributes that protect an object, and that are off after the change. If the protection
// object does not exist, all of them are off, but the cloud protects new buckets by default. So creating the
// protection object with an attribute off makes a bucket worse.
func turnedOff(names []string) func(before, after object) finding {
	return func(before, after object) (f finding) {
		made, was := after.exists(), before.exists()
		var off []string
		for _, n := range names {
			on, known := after.flag(n)
			former, knownBefore := before.flag(n)
			switch {
			case was && knownBefore && !former:
			case made && !known:
				f.add(true, "turn off the block of public access: the plan does not show %s", n)
			case !on:
				off = append(off, n)
			}
		}
		if len(off) > 0 {
			f.add(false, "turn off the block of public access (%s)", strings.Join(off, ", "))
		}
		return f
	}
}

// values of an attribute that is a text or a list of texts.
func values(o object, name string) ([]string, bool) {
	if v, has := o[name]; has && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		return []string{v.AsString()}, true
	}
	return o.texts(name)
}
