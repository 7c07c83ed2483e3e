// Views that ask again and again while they are shown.
import {useEffect} from 'preact/hooks';

/// Calls `look` at once, and then each `period` milliseconds until the view goes.
export function usePolling(look: () => Promise<void>, period: number) {
  useEffect(() => {
    void look();
    const timer = setInterval(look, period);
    return () => clearInterval(timer);
  }, []);
}
