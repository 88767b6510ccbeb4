package rest

// Reactions is how often each kind of reaction was given to a resource of the API, as answers show it.
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
