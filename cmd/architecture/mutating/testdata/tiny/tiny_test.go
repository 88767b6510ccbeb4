package tiny

import "testing"

func TestAdult(t *testing.T) {
	if Adult(17) || !Adult(20) {
		t.Error("Adult")
	}
}

func TestSum(t *testing.T) {
	if Sum([]int{1, 2}) != 3 || Sum([]int{4, 0, 5}) != 4 {
		t.Error("Sum")
	}
}
