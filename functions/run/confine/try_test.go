//go:build linux

package confine

func try([]string) {}
