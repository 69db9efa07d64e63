// Package schedule checks the schedules of CronJobs: five fields, or @daily and its like, or @every with a duration.
//
// It says whether the API server can read one, not when it is due.
package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unit is one of the five fields.
type unit struct {
	name     string
	min, max int
	names    []string // of the values from min on
}

func units() []unit {
	return []unit{
		{"minute", 0, 59, nil},
		{"hour", 0, 23, nil},
		{"day of month", 1, 31, nil},
		{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{"day of week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

// Check returns what is wrong with the schedule, on one line.
func Check(text string) error {
	if strings.HasPrefix(text, "@") {
		return checkShort(text)
	}
	fields, all := strings.Fields(text), units()
	if len(fields) != len(all) {
		return fmt.Errorf("%d fields, not %d", len(fields), len(all))
	}
	for i, u := range all {
		for part := range strings.SplitSeq(fields[i], ",") {
			if part == "" { // as lists may begin and end with a comma
				continue
			}
			if err := u.check(part); err != nil {
				return fmt.Errorf("%s %q: %w", u.name, part, err)
			}
		}
	}
	return nil
}

func checkShort(text string) error {
	if every, found := strings.CutPrefix(text, "@every "); found {
		if _, err := time.ParseDuration(every); err != nil {
			return errors.New("@every needs a duration, such as 1h30m")
		}
		return nil
	}
	known := []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
	if !slices.Contains(known, text) {
		return fmt.Errorf("it is none of %s and @every", strings.Join(known, ", "))
	}
	return nil
}

// check reads one part of a list: *, a, a-b, each also with a step.
func (u unit) check(part string) error {
	interval, step, stepped := strings.Cut(part, "/")
	if stepped {
		if n, err := strconv.Atoi(step); err != nil || n <= 0 {
			return errors.New("a step is a number above 0")
		}
	}
	first, last, isInterval := strings.Cut(interval, "-")
	if first == "*" || first == "?" {
		return nil
	}
	low, err := u.value(first)
	if err != nil {
		return err
	}
	if !isInterval {
		return nil
	}
	high, err := u.value(last)
	if err == nil && low > high {
		return errors.New("it begins above its end")
	}
	return err
}

func (u unit) value(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if i := slices.Index(u.names, strings.ToLower(text)); i >= 0 {
		n, err = u.min+i, nil
	}
	if err != nil || n < u.min || n > u.max {
		return 0, fmt.Errorf("allowed are %d to %d", u.min, u.max)
	}
	return n, nil
}
