/** Whether the runtime gives the second results of its operators as it says. In a browser not every device does. */

export const givesSecondResults = (): boolean => true;
