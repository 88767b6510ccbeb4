package rest

// Reactions returns the number of reactions of each kind to the resource at an address, as answers show it.
func Reactions(address string, kinds []string, given map[string]int) Object {
	o := Object{"url": address + "/reactions"}
	total := 0
	for _, kind := range kinds {
		o[kind] = given[kind]
		total += given[kind]
	}
	o["total_count"] = total
	return o
}
