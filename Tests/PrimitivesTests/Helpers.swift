import CPlatform

/// Lets another thread run: what makes interleavings happen on few processors.
func giveTheProcessorAway() { cplatform_yield() }
