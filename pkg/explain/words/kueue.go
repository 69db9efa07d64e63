package words

// ActivateWorkload is advice on a Job that Kueue has deactivated.
const ActivateWorkload = "once the cause is resolved, activate its Workload again"
