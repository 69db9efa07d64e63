package lint

import (
	"strings"
	"time"
	_ "time/tzdata" // findings do not depend on the machine's time zones

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkCronJob checks the fields of a CronJob around its Job.
func checkCronJob(r *review) {
	if r.cronJob == nil {
		return
	}
	spec, path := &r.cronJob.Spec, field.NewPath("spec")
	if policy := spec.ConcurrencyPolicy; policy != "" { // the API server defaults it to Allow
		r.oneOf("concurrency-policy-unknown", path.Child("concurrencyPolicy"), string(policy),
			string(batchv1.AllowConcurrent), string(batchv1.ForbidConcurrent), string(batchv1.ReplaceConcurrent))
	}
	for _, f := range []struct {
		name  string
		value *int32
	}{{"successfulJobsHistoryLimit", spec.SuccessfulJobsHistoryLimit}, {"failedJobsHistoryLimit", spec.FailedJobsHistoryLimit}} {
		if f.value != nil && *f.value < 0 {
			r.reject("negative", path.Child(f.name), "use 0 or more", "%s is %d", f.name, *f.value)
		}
	}
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline < 0 {
		r.reject("negative", path.Child("startingDeadlineSeconds"), "use 0 or more", "startingDeadlineSeconds is %d", *deadline)
	}
	if _, found := r.cronJob.Annotations[annotation]; found {
		r.add(Warning, "names-on-cronjob", field.NewPath("metadata", "annotations").Key(annotation), "move it to spec.jobTemplate.metadata.annotations",
			"rule names have no effect on the CronJob itself")
	}
}

func checkSchedule(r *review) {
	if r.cronJob == nil {
		return
	}
	text, path := r.cronJob.Spec.Schedule, field.NewPath("spec", "schedule")
	if text == "" {
		r.reject("schedule-missing", path, `add one, such as "0 3 * * *"`, "the CronJob has no schedule")
		return
	}
	if strings.Contains(text, "TZ") {
		r.reject("schedule-invalid", path, "use the timeZone field", "a schedule cannot contain a time zone")
		return
	}
	// The parser is the API server's. It may panic on a time zone.
	if _, err := cron.ParseStandard(text); err != nil {
		r.reject("schedule-invalid", path, `write minute, hour, day of month, month and day of week, such as "0 3 * * *"`, "the schedule %q is invalid: %v", shorten(text), err)
	}
}

func checkTimeZone(r *review) {
	if r.cronJob == nil || r.cronJob.Spec.TimeZone == nil {
		return
	}
	const fix = "use a name from the IANA time zone database, such as Europe/Berlin or Etc/UTC"
	zone, path := *r.cronJob.Spec.TimeZone, field.NewPath("spec", "timeZone")
	switch {
	case zone == "":
		r.reject("time-zone-unknown", path, fix+", or remove it", "timeZone is empty")
	case strings.EqualFold(zone, "Local"):
		r.reject("time-zone-unknown", path, fix, "timeZone %q differs between machines", zone)
	default:
		if _, err := time.LoadLocation(zone); err != nil {
			r.reject("time-zone-unknown", path, fix, "there is no time zone %q", shorten(zone))
		}
	}
}
