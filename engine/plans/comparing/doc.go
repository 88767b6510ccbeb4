// Package comparing decides whether a plan that was made again does the same as the plan that a
// person has approved. It compares data: both plans are whole, and nothing is asked of a provider.
//
// The rule: an attribute that was unknown in the approved plan may have become known; one that was
// known may neither change nor become unknown. Compared are
//
//	the request     mode, targets, replacements by request, backend, variables
//	each change     address, deposed key, action and order of replacing, provider configuration,
//	                move, import, attributes before and after
//	deferred reads  like changes; one that was done meanwhile has read something compatible
//	outputs         value before and after, and whether it is sensitive
//
// Sensitive values are compared by value like all others, and a [Difference] tells that it must not
// be shown.
//
// Only effects count. An object that neither plan changes, moves or imports may have other
// attributes by now, with the drift that describes them: where a change depends on such an
// attribute, the value of the change is another one, and that is found. Reasons, the paths that
// forced a replacement, results of checks, relevant attributes, private data of providers and
// timestamps explain or accompany a plan, and are not compared. In a plan that only refreshes,
// the drift is the effect, and is compared.
//
// What no plan has in it cannot be compared: the provider configurations, the provisioners and
// the expressions of the values that are not known yet. Equal plans do the same only if both were
// made from one configuration. To know that is the caller's part.
//
// The package refuses to know why a plan was made again, how it is shown, and what follows. Start at
// [Compare].
package comparing
