package words

// Advice on CronJobs.
const (
	ResumeCronJob       = "resume it; if starts were missed meanwhile, the last of them is made up for at once, unless startingDeadlineSeconds has passed"
	CheckOverlappingJob = "find out what the Job that is still running does"
	DeleteHanging       = "if its log shows that it hangs, delete the Job"
	ThenSkipped         = ": the CronJob then makes up for the last start that was skipped, unless startingDeadlineSeconds has passed"
	CheckFailingJob     = "find out why the Job fails: the CronJob starts its next Job, with the same template, once its pods have ended"
	CheckStalledJob     = "resolve what keeps the Job from going on, or delete it: the CronJob then starts its next Job"
	DeleteOutdated      = "if the CronJob has been corrected since, delete this Job: the next one has the current template"
	LimitRunTime        = "if it should have ended by now, give the next Jobs a deadline, after which they fail: set activeDeadlineSeconds in spec.jobTemplate.spec"
	AllowReplacement    = "if an older Job is worth less than a newer one, end it when the next start is due: set concurrencyPolicy to Replace"
	StartMissedNow      = "start the missed Job now, if it is still needed"
	LimitMissedStarts   = "compare the clocks of the control plane's machines, and count only starts of the last minutes as missed: set startingDeadlineSeconds"
	SetKnownZone        = "set a timeZone that it knows, such as Etc/UTC, or update its time zone data"
	ReadEventsOfCronJob = "check with its events whether this is still so"
	CorrectSchedule     = "correct the schedule"
	FixReplacement      = "find out why the Job cannot be deleted: a missing permission, or an admission webhook"
	SatisfyPolicy       = "have spec.jobTemplate do what the message asks for, or ask who runs this policy for an exception: the creation is retried automatically"
	DeleteOld           = "once the template is correct, delete this Job, which keeps the old one"
	DeleteBlocking      = "to have the CronJob start its next Job without waiting for this one, delete it"
	OrEndHanging        = "; activeDeadlineSeconds in spec.jobTemplate.spec ends such a Job by itself"
	SetCommand          = "give container %s its command in spec.jobTemplate, if the default one of image %s is a server, or does not do this work"
	FreeJobQuota        = "check the quota, and free up some of it or raise it: delete Jobs that are not needed, or set ttlSecondsAfterFinished in the template to have finished Jobs deleted"
	CorrectJobTemplate  = "correct spec.jobTemplate; the next Job then has it"
	RetriedCreation     = "once nothing refuses it, the creation succeeds: it is retried automatically"
	FindDeletionHolder  = "find out which finalizer keeps it"
	CorrectRunTemplate  = "to change the template, edit spec.jobTemplate of the CronJob; Jobs that exist keep theirs"
	ChangeRunTemplate   = "change the pod template in spec.jobTemplate of the CronJob; Jobs that exist keep theirs"
	ThenTry             = "; then try it at once, without waiting for the next start"
	TryAgain            = "once this is resolved, try again at once, without waiting for the next start"
	DeleteStalledJobs   = "find the stalled Jobs, and delete those that are no longer of use"
	LetRunsEnd          = "let a run end before the next one starts: give the schedule a longer interval, or set concurrencyPolicy to Forbid, which skips starts"
	ForbidOverlap       = "start no Job while one runs: set concurrencyPolicy to Forbid; activeDeadlineSeconds in spec.jobTemplate ends Jobs that hang"
	DeleteManualJobs    = "find the Jobs that are not needed, and delete them"
	LimitLateStarts     = "if a late run is worse than none, have starts skipped that are missed for longer than 10 minutes: set startingDeadlineSeconds"
	DeleteUncounted     = "delete the Job that the CronJob no longer counts, unless both may run at once: the CronJob does not wait for it, and does not end it"
	SetZone             = "if it should start at this hour of your time zone, name that in spec.timeZone, such as Europe/Berlin: kube-controller-manager takes its own, usually UTC"
	ReadLastRun         = "read what its last run printed: exit code 0 does not show that it did its work"
	FindCauseOfRun      = "find out why the Job failed, with the end of its log"
	DeleteKept          = "nothing is wrong now: delete what is left of the failure, with its pods and their logs, when nobody needs it"
	DeleteKeptJob       = "if a later run succeeded, delete this Job, which only failedJobsHistoryLimit keeps"
	KeepSuccessfulJobs  = "to see that later runs succeed, keep a Job of them, too: set successfulJobsHistoryLimit"
	KeepFailedJobs      = "keep the last failed Job, with its pods and logs: set failedJobsHistoryLimit"
)

// TooShortToStart is the startingDeadlineSeconds below which the controller may miss every start.
const TooShortToStart = 10

// GiveMoreTimeToStart returns advice on a startingDeadlineSeconds that was exceeded.
func GiveMoreTimeToStart(seconds int64) string {
	if seconds < TooShortToStart {
		return "raise startingDeadlineSeconds: the controller may look at a CronJob only every 10s, so a smaller value may miss every start"
	}
	return "raise startingDeadlineSeconds, so that a late start still counts"
}
