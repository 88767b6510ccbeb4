package rest

// Reactions returns the number of reactions of each kind to a resource, as answers show it.
func Reactions(to string, kinds []string, given map[string]int) Object {
	o := Object{"url": to + "/reactions"}
	total := 0
	for _, kind := range kinds {
		o[kind] = given[kind]
		total += given[kind]
	}
	o["total_count"] = total
	return o
}
