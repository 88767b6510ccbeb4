// Package comparing decides whether a plan that was made again does the same as the plan that a person has
// approved. It compares data only: both plans are complete, and no provider is called.
//
// The rule: an attribute that was unknown in the approved plan may have become known. An attribute that was
// known may neither change nor become unknown. The package compares
//
//	the request     mode, targets, replacements by request, backend, variables
//	each change     address, deposed key, action and order of replacing, provider configuration,
//	                move, import, attributes before and after
//	deferred reads  like changes; one that was done meanwhile has read something compatible
//	outputs         value before and after, and whether it is sensitive
//
// Sensitive values are compared like all others. Their [Difference] says that they must not be shown.
//
// Only effects count. An object that neither plan changes, moves or imports may have different attributes
// now, and different drift. If a change depends on such an attribute, the change itself differs, and that is
// found. Not compared is what only explains a plan: reasons, the paths that forced a replacement, results of
// checks, relevant attributes, private data of providers, timestamps. In a plan that only refreshes, the
// drift is the effect, and is compared.
//
// Some things are in no plan and cannot be compared: provider configurations, provisioners, and the
// expressions of values that are not known yet. So equal plans do the same only if both were made from the
// same configuration. The caller must ensure that.
//
// The package refuses to know why a plan was made again, how it is shown, and what happens next. Start at
// [Compare].
package comparing
