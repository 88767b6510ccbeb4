package toolresults

import (
	"fmt"
	"math/big"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// An Amount is an exact decimal number, such as an amount of money. The zero value is 0. Amounts do not change.
type Amount struct{ rat *big.Rat }

// decimal matches the decimals that are read. It has no exponent, because 1e999999999 has few characters and takes much
// memory.
var decimal = lazyregexp.New(`^-?[0-9]{1,30}(\.[0-9]{1,60})?$`)

// ParseAmount reads a decimal such as "-12.40", of at most 30 digits before the point and 60 after it.
func ParseAmount(text string) (Amount, error) {
	if !decimal.MatchString(text) {
		return Amount{}, fmt.Errorf("%.50q is not a decimal number, such as 12.40", text)
	}
	r, _ := new(big.Rat).SetString(text) // the expression allows less than SetString
	return Amount{r}, nil
}

func (a Amount) value() *big.Rat {
	if a.rat == nil {
		return new(big.Rat)
	}
	return a.rat
}

// Plus returns a + b.
func (a Amount) Plus(b Amount) Amount { return Amount{new(big.Rat).Add(a.value(), b.value())} }

// Minus returns a - b.
func (a Amount) Minus(b Amount) Amount { return Amount{new(big.Rat).Sub(a.value(), b.value())} }

// Abs returns a without its sign.
func (a Amount) Abs() Amount { return Amount{new(big.Rat).Abs(a.value())} }

// Cmp returns -1 if a is less than b, 0 if they are equal, and 1 if a is greater.
func (a Amount) Cmp(b Amount) int { return a.value().Cmp(b.value()) }

// Sign returns -1 if a is negative, 0 if it is 0, and 1 if it is positive.
func (a Amount) Sign() int { return a.value().Sign() }

// Rounded returns a with two digits after the point, such as "-12.40". Halves are rounded away from 0.
func (a Amount) Rounded() string { return a.value().FloatString(2) }

// String returns all digits of a.
func (a Amount) String() string {
	digits, _ := a.value().FloatPrec() // sums of decimals are decimals
	return a.value().FloatString(digits)
}

// Equal reports whether a and b are the same number.
func (a Amount) Equal(b Amount) bool { return a.Cmp(b) == 0 }

// MarshalText returns all digits.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAmount(string(text))
	return err
}
