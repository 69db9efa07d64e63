package words

// OtherCauses stands for the causes that an event counts without their names.
const OtherCauses = "Other causes, too many for an event each"

// PodMeaning is what the reason of a disruption, or of the failure of a whole pod, means, "" if that is not known.
func PodMeaning(reason string) string {
	switch reason {
	case "EvictionByEvictionAPI":
		return "the pod was evicted, as by kubectl drain"
	case "PreemptionByScheduler":
		return "the scheduler preempted it for a pod with a higher priority"
	case "DeletionByTaintManager":
		return "its node has a taint that the pod does not tolerate"
	case "DeletionByPodGC":
		return "its node is gone"
	case "TerminationByKubelet":
		return "its node ran low on resources or shut down"
	case "Evicted":
		return "its node ran low on resources"
	case "NodeLost", "NodeShutdown", "Shutdown", "Terminated":
		return "its node is gone or shut down"
	case "DeadlineExceeded":
		return "the pod ran longer than its own activeDeadlineSeconds"
	}
	return ""
}
