package words

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// anyValue is the bit that the parser sets in a field that is a star.
const anyValue = 1 << 63

// maxTimes is the maximum number of times of day that a schedule in words lists.
const maxTimes = 4

// Schedule describes the fields of a schedule: "Monday to Friday at 08:00"; "" without fields.
func Schedule(fields *cron.SpecSchedule) string {
	if fields == nil {
		return ""
	}
	minutes, hours := valuesOf(fields.Minute, 60), valuesOf(fields.Hour, 24)
	days, times := daysText(fields), timesOfDay(minutes, hours)
	switch {
	case times != "" && days == "":
		return "every day at " + times
	case times != "":
		return days + " at " + times
	}
	return wording.Join(", ", repeatsText(minutes, hours), days)
}

// valuesOf returns the values of a field, all of which are below limit.
func valuesOf(field uint64, limit int) (values []int) {
	for v := range limit {
		if field&(1<<v) != 0 {
			values = append(values, v)
		}
	}
	return values
}

// timesOfDay lists the times, "" if there are many.
func timesOfDay(minutes, hours []int) string {
	if len(minutes)*len(hours) > maxTimes {
		return ""
	}
	var times []string
	for _, h := range hours {
		for _, m := range minutes {
			times = append(times, clock(h, m))
		}
	}
	return wording.Enumerate(times, "and")
}

func clock(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

// repeatsText describes times that repeat during a day: "every 15 minutes from 08:00 to 17:45".
func repeatsText(minutes, hours []int) string {
	first, last := minutes[0], minutes[len(minutes)-1]
	text, everyMinutes := "", interval(minutes, 60)
	switch {
	case everyMinutes == 1:
		text = "every minute"
	case everyMinutes > 1:
		text = fmt.Sprintf("every %d minutes", everyMinutes)
	}
	step := stepOf(hours)
	if len(hours) == 1 {
		step = 1
	}
	switch {
	case len(hours) == 24 && text != "":
		return text
	case len(hours) == 24 && len(minutes) == 1 && first == 0:
		return "every hour"
	case len(hours) == 24:
		return "every hour at " + minutesText(minutes)
	case step == 1 && text != "":
		return text + " from " + clock(hours[0], first) + " to " + clock(hours[len(hours)-1], last)
	case step == 1 && len(minutes) == 1:
		return "every hour from " + clock(hours[0], first) + " to " + clock(hours[len(hours)-1], last)
	case step > 1 && len(minutes) == 1:
		return fmt.Sprintf("every %d hours from %s to %s", step, clock(hours[0], first), clock(hours[len(hours)-1], last))
	case text == "":
		text = "at " + minutesText(minutes)
	}
	return text + wording.Form(len(hours), " of the hour ", " of the hours ") + listText(hours)
}

func minutesText(minutes []int) string {
	return wording.Form(len(minutes), "minute ", "minutes ") + listText(minutes)
}

// interval returns the interval of values that repeat evenly, from 0 to limit; otherwise 0.
func interval(values []int, limit int) int {
	if step := stepOf(values); step > 0 && values[0] == 0 && step*len(values) == limit {
		return step
	}
	return 0
}

// stepOf returns the difference between values that follow one another evenly; otherwise 0.
func stepOf(values []int) int {
	if len(values) < 2 {
		return 0
	}
	step := values[1] - values[0]
	for i := range values[1:] {
		if values[i+1]-values[i] != step {
			return 0
		}
	}
	return step
}

// listText lists values, and joins three or more that follow one another: "0, 5 and 10-15".
func listText(values []int) string {
	var parts []string
	for i := 0; i < len(values); i++ {
		first := i
		for i+1 < len(values) && values[i+1] == values[i]+1 {
			i++
		}
		if i-first > 1 {
			parts = append(parts, strconv.Itoa(values[first])+"-"+strconv.Itoa(values[i]))
			continue
		}
		for _, v := range values[first : i+1] {
			parts = append(parts, strconv.Itoa(v))
		}
	}
	return wording.Enumerate(parts, "and")
}

// daysText describes the days, "" for every day. If neither field for days is a star, a day that one of them has is enough.
func daysText(fields *cron.SpecSchedule) string {
	var month, week string
	if fields.Dom&anyValue == 0 {
		month = monthDaysText(valuesOf(fields.Dom, 32)) + " of "
	}
	if fields.Dow&anyValue == 0 {
		week = weekdaysText(valuesOf(fields.Dow, 7))
	}
	months := monthsText(fields.Month)
	switch {
	case month == "" && week == "" && months == "":
		return ""
	case month == "" && week == "":
		return "every day of " + months
	case month == "":
		return wording.Join(" in ", week, months)
	case week == "" && months == "":
		return month + "the month"
	case week == "":
		return month + months
	}
	return wording.Join(" in ", month+"the month and "+week, months)
}

// EitherDay reports whether neither field for days is a star.
func EitherDay(fields *cron.SpecSchedule) bool {
	return fields != nil && (fields.Dom|fields.Dow)&anyValue == 0
}

// monthDaysText returns "on days 1 and 15", or "on every 2nd day" for long lists.
func monthDaysText(days []int) string {
	const many = 6
	if step := stepOf(days); step > 1 && len(days) >= many && days[0] == 1 {
		return fmt.Sprintf("on every %d%s day", step, [...]string{2: "nd", 3: "rd", 4: "th", 5: "th", 6: "th"}[step])
	}
	return wording.Form(len(days), "on day ", "on days ") + listText(days)
}

// weekdaysText returns "Monday to Friday", or "on Monday and Thursday"; "every day" for the whole week.
func weekdaysText(days []int) string {
	var names []string
	for _, day := range days {
		names = append(names, time.Weekday(day).String())
	}
	switch {
	case len(days) == 7:
		return "every day"
	case len(days) > 2 && stepOf(days) == 1:
		return names[0] + " to " + names[len(names)-1]
	}
	return "on " + wording.Enumerate(names, "and")
}

// monthsText lists months, "" for all.
func monthsText(field uint64) string {
	if bits.OnesCount64(field&^anyValue) == 12 {
		return ""
	}
	var names []string
	for _, month := range valuesOf(field, 13) {
		names = append(names, time.Month(month).String())
	}
	if months := valuesOf(field, 13); len(months) > 2 && stepOf(months) == 1 {
		return names[0] + " to " + names[len(names)-1]
	}
	return strings.TrimSpace(wording.Enumerate(names, "and"))
}
