package schema

import (
	"math/big"
	"strconv"
	"strings"
)

// A decimal is a number exactly as written: 0.DIGITS times ten to the power of
// exp, without zeros at either end. Zero has no digits. It keeps the numbers
// that a float64 would round, and costs no more for 1e999999999 than for 1.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// farthest is the exponent at which all larger ones are taken as the same.
const farthest = 1 << 30

// decimalOf reads a number that is valid JSON.
func decimalOf(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.exp = exponent(s[i+1:])
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	d.exp += len(whole)
	d.digits = whole + fraction
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func exponent(s string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "+"))
	if err != nil && strings.HasPrefix(s, "-") {
		return -farthest
	}
	if err != nil {
		return farthest
	}
	return max(-farthest, min(n, farthest))
}

// compare is negative, zero or positive, as d is less than, equal to or more than e.
func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() {
		return d.sign() - e.sign()
	}
	if d.exp != e.exp && d.digits != "" {
		return d.sign() * (d.exp - e.exp)
	}
	return d.sign() * strings.Compare(d.digits, e.digits)
}

// plain is the number for a message.
func (d decimal) plain() string {
	if n, ok := d.int64(); ok {
		return strconv.FormatInt(n, 10)
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// whole reports whether there is no fraction.
func (d decimal) whole() bool { return d.exp >= len(d.digits) }

// int64 is the number when it is whole and fits.
func (d decimal) int64() (int64, bool) {
	const most = 19 // digits of the largest
	if !d.whole() || d.exp > most {
		return 0, false
	}
	s := d.digits + strings.Repeat("0", d.exp-len(d.digits))
	if d.negative {
		s = "-" + s
	}
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// multipleOf reports whether d is a whole number of steps. Numbers too long to
// divide in little time are none.
func (d decimal) multipleOf(step decimal) bool {
	a, b := d.rat(), step.rat()
	if a == nil || b == nil || b.Sign() == 0 {
		return false
	}
	return a.Quo(a, b).IsInt()
}

func (d decimal) rat() *big.Rat {
	const most = 400
	if len(d.digits) > most || d.exp > most || d.exp < -most {
		return nil
	}
	r, _ := new(big.Rat).SetString(d.String())
	return r
}

// String is the number with an exponent, the same for all ways to write it.
func (d decimal) String() string {
	switch {
	case d.digits == "":
		return "0"
	case d.negative:
		return "-0." + d.digits + "e" + strconv.Itoa(d.exp)
	}
	return "0." + d.digits + "e" + strconv.Itoa(d.exp)
}
