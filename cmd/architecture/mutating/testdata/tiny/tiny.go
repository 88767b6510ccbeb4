// Package tiny has a rule that its test holds in part.
package tiny

// Adult reports whether a person of that age may vote. No test asks about the age itself.
func Adult(age int) bool {
	return age >= 18
}

// Sum adds the numbers up to the first that is zero.
func Sum(numbers []int) (total int) {
	for i := 0; i < len(numbers); i++ {
		if numbers[i] == 0 {
			break
		}
		total += numbers[i]
	}
	return total
}
